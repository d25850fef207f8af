//! Changes path, query and headers of requests, and headers of responses. Must not know how a rule is
//! written or applied.

mod config;
mod headers;
mod path;
mod query;
mod template;

use edgewright_sdk::TargetError;
use edgewright_sdk::prelude::*;
use edgewright_sdk::query::Query;

use config::Config;
use headers::HeaderEdits;
use path::PathRule;
use query::QueryRule;

struct Rewrite {
    path: Option<PathRule>,
    query: QueryRule,
    request: HeaderEdits,
    response: HeaderEdits,
}

#[plugin]
impl Plugin for Rewrite {
    type Config = Config;

    fn configure(config: Config) -> Result<Self, String> {
        let path = config.path.map(PathRule::new).transpose()?;
        Ok(Self {
            query: QueryRule::new(config.query, path.as_ref())?,
            request: HeaderEdits::new("request", config.request)?,
            response: HeaderEdits::new("response", config.response)?,
            path,
        })
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        if let Err(refused) = self.retarget(request) {
            log::warn!("`{}` was not rewritten: {refused}", request.path());
            return Response::new(500).into();
        }
        if let Err(refused) = self.request.apply(request) {
            log::warn!("the request's headers were not rewritten: {refused}");
            return Response::new(500).into();
        }
        Verdict::Next
    }

    fn on_response(&self, _: &Request, response: &mut ResponseHead) -> Verdict {
        if let Err(refused) = self.response.apply(response) {
            log::warn!("the response's headers were not rewritten: {refused}");
        }
        Verdict::Next
    }
}

impl Rewrite {
    fn retarget(&self, request: &mut Request) -> Result<(), TargetError> {
        let path = self.path.as_ref().map(|rule| (rule, request.path()));
        let captures = path.as_ref().and_then(|(rule, path)| rule.captures(path));
        if !self.query.is_empty() {
            let before = Query::from(request.query());
            let mut after = before.clone();
            self.query.apply(&mut after, captures.as_ref());
            if after != before {
                request.set_query(after.as_deref())?;
            }
        }
        if let (Some((rule, path)), Some(captures)) = (&path, &captures) {
            request.set_path(&rule.rewritten(path, captures))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
