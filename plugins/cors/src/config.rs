//! What the user writes, made ready for use. Must not know requests.

use edgewright_sdk::Header;
use serde::Deserialize;

use crate::origins::Origins;

/// `config` of the plugin; each key is explained in README.md.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Config {
    pub(crate) origins: Vec<String>,
    #[serde(default = "methods")]
    pub(crate) methods: Vec<String>,
    #[serde(default)]
    pub(crate) headers: Vec<String>,
    #[serde(default)]
    pub(crate) expose: Vec<String>,
    #[serde(default)]
    pub(crate) credentials: bool,
    #[serde(default = "max_age")]
    pub(crate) max_age: u32,
}

/// The values of the header fields, and whom they are for.
#[derive(Debug)]
pub(crate) struct Policy {
    pub(crate) origins: Origins,
    pub(crate) methods: String,
    pub(crate) headers: AllowedHeaders,
    pub(crate) expose: Option<String>,
    pub(crate) credentials: bool,
    pub(crate) max_age: String,
}

/// What a page may send beside the fields that it always may.
#[derive(Debug)]
pub(crate) enum AllowedHeaders {
    /// Whatever it asks for.
    Any,
    These(Option<String>),
}

impl Config {
    /// # Errors
    /// Which key is wrong and why.
    pub(crate) fn policy(self) -> Result<Policy, String> {
        let origins = Origins::new(&self.origins)?;
        if self.credentials && origins.are_any() {
            return Err(
                "`origins` is `*` and `credentials` is true: any page could act as its visitor; name the \
                        origins"
                    .to_owned(),
            );
        }
        for method in &self.methods {
            // Methods are tokens, as names of fields are.
            Header::check_name(&format!("x-{method}"))
                .ok()
                .filter(|()| !method.is_empty())
                .ok_or_else(|| format!("`methods`: `{method}` is not a method"))?;
        }
        let headers = match self.headers.as_slice() {
            [any] if any == "*" => AllowedHeaders::Any,
            names => AllowedHeaders::These(list("headers", names)?),
        };
        Ok(Policy {
            origins,
            methods: self.methods.join(", "),
            headers,
            expose: list("expose", &self.expose)?,
            credentials: self.credentials,
            max_age: self.max_age.to_string(),
        })
    }
}

fn list(key: &str, names: &[String]) -> Result<Option<String>, String> {
    for name in names {
        Header::check_name(&format!("x-{name}"))
            .ok()
            .filter(|()| !name.is_empty() && name != "*")
            .ok_or_else(|| format!("`{key}`: `{name}` is not the name of a header field"))?;
    }
    Ok((!names.is_empty()).then(|| names.join(", ")))
}

/// The ones that a page may use without asking.
fn methods() -> Vec<String> {
    ["GET", "HEAD", "POST"].map(str::to_owned).to_vec()
}

/// Ten minutes: browsers keep no answer for longer than two hours.
fn max_age() -> u32 {
    600
}

#[cfg(test)]
mod tests {
    use edgewright_sdk::testing;

    use crate::Cors;

    #[test]
    fn mistakes_are_load_errors() {
        fn check(config: &str, expected: &str) {
            let error = testing::configure::<Cors>(config).err().unwrap_or_default();
            assert!(error.contains(expected), "{error}");
        }
        check("{}", "missing field `origins`");
        check(r#"{ "origins": [] }"#, "`origins` is empty");
        check(r#"{ "origins": ["*"], "credentials": true }"#, "`origins` is `*` and `credentials` is true");
        for origin in
            ["app.test", "https://app.test/", "https://", "null", "https://a b", "https://*", "ftp:/x"]
        {
            check(&format!(r#"{{ "origins": ["{origin}"] }}"#), &format!("`origins`: `{origin}`"));
        }
        check(r#"{ "origins": ["*"], "methods": ["A B"] }"#, "`methods`: `A B`");
        check(r#"{ "origins": ["*"], "headers": ["x a"] }"#, "`headers`: `x a`");
        check(r#"{ "origins": ["*"], "expose": ["*"] }"#, "`expose`: `*`");
    }
}
