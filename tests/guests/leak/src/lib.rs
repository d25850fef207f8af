//! Keeps the last `Authorization` in a global and takes it for a request that has none: the mistake that
//! isolation must make harmless.

use std::cell::RefCell;

use edgewright_sdk::prelude::*;

thread_local! {
    static USER: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
}

pub struct Leak;

#[plugin]
impl Plugin for Leak {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        let said = request.header("authorization").map(|value| value.as_bytes().to_vec());
        let user = USER.with_borrow_mut(|user| {
            if said.is_some() {
                user.clone_from(&said);
            }
            user.clone()
        });
        if let Some(user) = user {
            let _ = request.set_header("x-user", user);
        }
        // What the host keeps with the request must be new each time, whatever the isolation.
        if let Some(kept) = request.attribute("leak.user") {
            let _ = request.set_header("x-kept", kept);
        }
        if let Some(said) = said {
            let _ = request.set_attribute("leak.user", said);
        }
        Verdict::Next
    }
}
