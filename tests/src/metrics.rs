//! Metrics in the Prometheus text format, as far as tests look at them.

use std::collections::BTreeMap;

/// One scrape.
#[derive(Debug, Clone)]
pub struct Metrics {
    samples: Vec<Sample>,
}

#[derive(Debug, Clone)]
struct Sample {
    name: String,
    labels: BTreeMap<String, String>,
    value: f64,
}

impl Metrics {
    /// Reads a whole scrape.
    ///
    /// # Panics
    /// A line is not of the format.
    pub fn parse(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let samples =
            lines.map(|line| sample(line).unwrap_or_else(|| panic!("not a sample: `{line}`"))).collect();
        Self { samples }
    }

    /// The sum over all samples of that name that have these labels, whatever else they have; 0 where
    /// there is none.
    pub fn sum(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        self.matching(name, labels).map(|sample| sample.value).sum()
    }

    /// Whether there is a sample of that name with these labels.
    pub fn has(&self, name: &str, labels: &[(&str, &str)]) -> bool {
        self.matching(name, labels).next().is_some()
    }

    /// How many series there are.
    pub fn series(&self) -> usize {
        self.samples.len()
    }

    /// The names that there are.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.samples.iter().map(|sample| sample.name.as_str()).collect();
        names.dedup();
        names
    }

    fn matching(&self, name: &str, labels: &[(&str, &str)]) -> impl Iterator<Item = &Sample> {
        self.samples.iter().filter(move |sample| {
            sample.name == name
                && labels.iter().all(|(key, value)| sample.labels.get(*key).is_some_and(|has| has == value))
        })
    }
}

fn sample(line: &str) -> Option<Sample> {
    let (series, value) = match line.split_once('}') {
        Some((series, value)) => (series, value),
        None => line.split_once(' ')?,
    };
    let (name, labels) = series.split_once('{').unwrap_or((series, ""));
    let labels = labels
        .split("\",")
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (key, value) = pair.split_once("=\"")?;
            Some((key.to_owned(), value.trim_end_matches('"').to_owned()))
        })
        .collect::<Option<_>>()?;
    let value = value.split_whitespace().next()?.parse().ok()?;
    Some(Sample { name: name.to_owned(), labels, value })
}
