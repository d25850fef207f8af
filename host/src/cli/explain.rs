//! `edgewright explain`: the route, chain, upstream and peers of a request that is not sent, with reasons.
//! The request is let in and routed by the proxy's own code, so that it can't tell another story.

mod plan;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use http::{HeaderName, HeaderValue, Method, header};
use serde::Serialize;

use crate::config;
use crate::config::model::Config;
use crate::proxy::Rehearsal;
use crate::route::{Explanation, RouteTable};
use crate::snapshot::Policy;

use super::{mistake, mistakes, out};
use plan::Plan;

#[derive(Debug, Args)]
pub(super) struct Explain {
    /// Method, as in `GET`
    method: Method,
    /// URL, as in `http://api.example.com/v1/users?id=7`
    url: String,
    /// Header line, as in `-H 'X-Canary: 1'`; may be given several times
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// Configuration file
    #[arg(short, long, value_name = "FILE", default_value = "edgewright.toml")]
    config: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    explanation: &'a Explanation,
    #[serde(flatten)]
    plan: Option<&'a Plan>,
}

impl Explain {
    pub(super) fn run(&self) -> ExitCode {
        let config = match config::load(&self.config) {
            Ok(checked) => checked.config,
            Err(diagnostics) => return mistakes(&diagnostics),
        };
        match self.explain(&config) {
            Ok(text) => {
                out(&text);
                ExitCode::SUCCESS
            }
            Err(problem) => mistake(&problem),
        }
    }

    fn explain(&self, config: &Config) -> Result<String, String> {
        let mut headers = self.header_lines()?;
        let (authority, target) = split_url(&self.url)?;
        if !authority.is_empty() && !headers.iter().any(|(name, _)| *name == header::HOST) {
            let host = HeaderValue::from_str(&authority).map_err(|_| format!("`{authority}` is no host"))?;
            headers.push((header::HOST, host));
        }
        let policy = Policy::of(&config.server);
        let rehearsal = Rehearsal::play(&policy, &self.method, target.as_bytes(), &headers)
            .map_err(|refused| refused.to_string())?;
        let request = rehearsal.request();
        let table = RouteTable::build(&config.routes);
        let explanation = table.explain(&request);
        let route = explanation.id().and_then(|id| config.routes.get(id.index()));
        let plan = route.map(|route| Plan::of(config, route, &rehearsal)).transpose();
        let plan = plan.map_err(|refused| refused.to_string())?;
        if self.json {
            return serde_json::to_string_pretty(&Told { explanation: &explanation, plan: plan.as_ref() })
                .map(|json| json + "\n")
                .map_err(|error| error.to_string());
        }
        let mut text = String::new();
        if request.path != target.split('?').next().unwrap_or_default() {
            let _ = writeln!(text, "path, normalised: {}", request.path);
        }
        let _ = writeln!(text, "{explanation}");
        if let Some(plan) = plan {
            let _ = write!(text, "{plan}");
        }
        Ok(text)
    }

    fn header_lines(&self) -> Result<Vec<(HeaderName, HeaderValue)>, String> {
        let read = |line: &String| {
            let wrong = || format!("`{line}` is no header line: write `NAME: VALUE`");
            let (name, value) = line.split_once(':').ok_or_else(wrong)?;
            let name = HeaderName::from_bytes(name.trim().as_bytes()).map_err(|_| wrong())?;
            let value = HeaderValue::from_bytes(value.trim().as_bytes()).map_err(|_| wrong())?;
            Ok((name, value))
        };
        self.headers.iter().map(read).collect()
    }
}

/// Authority and target of a URL as a client would send them: nothing is decoded or resolved here.
fn split_url(url: &str) -> Result<(String, String), String> {
    let url = url.split('#').next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else {
        return if url.starts_with('/') || url == "*" {
            Ok((String::new(), url.to_owned()))
        } else {
            Err(format!(
                "`{url}` is no URL: write `http://HOST/PATH`, or `/PATH` for a request without a host"
            ))
        };
    };
    if !matches!(scheme, "http" | "https") {
        return Err(format!("`{scheme}` is not a scheme of this proxy: http or https"));
    }
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, target) = rest.split_at(end);
    let target = if target.starts_with('/') { target.to_owned() } else { format!("/{target}") };
    Ok((authority.to_owned(), target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_split_as_a_client_would_send_them() {
        let check = |url: &str, authority: &str, target: &str| {
            assert_eq!(split_url(url), Ok((authority.to_owned(), target.to_owned())), "{url}");
        };
        check("http://a.test/x/../y?b=1#f", "a.test", "/x/../y?b=1");
        check("https://a.test:8443", "a.test:8443", "/");
        check("http://a.test?q", "a.test", "/?q");
        check("/v1/x", "", "/v1/x");
        assert!(split_url("ftp://a/").is_err());
        assert!(split_url("a.test/x").is_err());
    }
}
