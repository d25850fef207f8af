//! Guests in the text format: the canonical ABI by hand, a few instructions each. What a test is about is one
//! function body; all around it is here.

/// Core function bodies of what a guest exports; `None` is not exported.
#[derive(Default, Clone)]
pub(crate) struct Guest<'a> {
    /// `(param $config i32) (result i32)`: the address of a verdict.
    pub(crate) on_request: Option<&'a str>,
    pub(crate) on_response: Option<&'a str>,
    /// `(param $entry i32)`
    pub(crate) on_log: Option<&'a str>,
    /// `(param $id i32) (param $json i32) (param $length i32) (result i32)`
    pub(crate) configure: Option<&'a str>,
    /// More items of the core module: globals, functions, a start function.
    pub(crate) items: &'a str,
    /// More imports of the component.
    pub(crate) imports: &'a str,
    /// Pages of 64 KiB that the memory starts with; two where it is nothing.
    pub(crate) pages: u32,
}

/// Address of the verdict `next`: memory is zero there.
pub(crate) const NEXT: &str = "(i32.const 0)";

/// Answers 403 with the body `no`.
pub(crate) const FORBID: &str = "
    (i32.store8 (i32.const 64) (i32.const 1))
    (i32.store16 (i32.const 68) (i32.const 403))
    (i32.store (i32.const 72) (i32.const 0)) (i32.store (i32.const 76) (i32.const 0))
    (i32.store (i32.const 80) (i32.const 1040)) (i32.store (i32.const 84) (i32.const 2))
    (i32.const 64)";

/// Sets the request header `x-seen` to `yes`.
pub(crate) const SEEN: &str = "
    (call $set (i32.const 1024) (i32.const 6) (i32.const 1032) (i32.const 3) (i32.const 128))
    (i32.const 0)";

/// Copies the request header `x-in` to `x-out`.
pub(crate) const COPY: &str = "
    (global.set $free (i32.const 4096))
    (call $get (i32.const 1048) (i32.const 4) (i32.const 128))
    (if (i32.load8_u (i32.const 128)) (then
        (call $set (i32.const 1056) (i32.const 5) (i32.load (i32.const 132)) (i32.load (i32.const 136))
            (i32.const 144))))
    (i32.const 0)";

/// Sets `x-count` to a digit: how many calls this instance ran before.
pub(crate) const COUNT: &str = "
    (i32.store8 (i32.const 160) (i32.add (i32.const 48) (global.get $calls)))
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (call $set (i32.const 1064) (i32.const 7) (i32.const 160) (i32.const 1) (i32.const 128))
    (i32.const 0)";

pub(crate) const COUNTER: &str = "(global $calls (mut i32) (i32.const 0))";

/// Never ends.
pub(crate) const LOOP: &str = "(loop $again (br $again)) (i32.const 0)";

/// Loops if the request has `x-in`, else as [`SEEN`].
pub(crate) const LOOP_IF_ASKED: &str = "
    (call $get (i32.const 1048) (i32.const 4) (i32.const 128))
    (if (i32.load8_u (i32.const 128)) (then (loop $again (br $again))))
    (call $set (i32.const 1024) (i32.const 6) (i32.const 1032) (i32.const 3) (i32.const 128))
    (i32.const 0)";

const DATA: &str = r#"
    (data (i32.const 1024) "x-seen") (data (i32.const 1032) "yes") (data (i32.const 1040) "no")
    (data (i32.const 1048) "x-in") (data (i32.const 1056) "x-out") (data (i32.const 1064) "x-count")"#;

const TYPES: &str = r#"
    (import "edgewright:plugin/types@0.1.0" (instance $types
        (type $bytes (list u8)) (export "bytes" (type (eq $bytes)))
        (type $header (record (field "name" string) (field "value" (list u8))))
        (export "header" (type $header-line (eq $header)))
        (type $response (record
            (field "status" u16) (field "headers" (list $header-line)) (field "body" (list u8))))
        (export "response" (type $made (eq $response)))
        (type $verdict (variant (case "next") (case "respond" $made)))
        (export "verdict" (type (eq $verdict)))
        (type $refused (variant (case "invalid-name") (case "invalid-value") (case "host-owned")
            (case "too-large") (case "wrong-phase")))
        (export "header-error" (type (eq $refused)))))
    (alias export $types "verdict" (type $verdict))
    (alias export $types "header-error" (type $header-error))"#;

const HEADS: &str = r#"
    (import "edgewright:plugin/request@0.1.0" (instance $request
        (alias outer 1 $header-error (type $outer)) (export "header-error" (type $refused (eq $outer)))
        (export "header" (func (param "name" string) (result (option (list u8)))))
        (export "set-header"
            (func (param "name" string) (param "value" (list u8)) (result (result (error $refused)))))))
    (import "edgewright:plugin/response@0.1.0" (instance $response
        (alias outer 1 $header-error (type $outer)) (export "header-error" (type $refused (eq $outer)))
        (export "set-header"
            (func (param "name" string) (param "value" (list u8)) (result (result (error $refused)))))))"#;

impl Guest<'_> {
    /// The component, in its binary format.
    pub(crate) fn build(&self) -> Vec<u8> {
        wat::parse_str(self.text()).expect("the text of a component")
    }

    fn text(&self) -> String {
        let Guest { items, imports, .. } = self;
        let pages = if self.pages == 0 { 2 } else { self.pages };
        let mut core = String::new();
        let mut exports = String::new();
        for (name, body) in [("request", self.on_request), ("response", self.on_response)] {
            let Some(body) = body else { continue };
            core += &format!(r#"(func (export "on-{name}") (param $config i32) (result i32) {body})"#);
            exports += &format!(
                r#"(func $on-{name} (param "config" u32) (result $verdict)
                    (canon lift (core func $guest "on-{name}") (memory $memory)))
                (instance $i-{name} (export "on-{name}" (func $on-{name})))
                (export "edgewright:plugin/{name}-filter@0.1.0" (instance $i-{name}))"#
            );
        }
        if let Some(body) = self.configure {
            core += &format!(
                r#"(func (export "configure") (param $id i32) (param $json i32) (param $length i32)
                    (result i32) {body})"#
            );
            exports += r#"(func $configure (param "id" u32) (param "json" string) (result (result (error string)))
                    (canon lift (core func $guest "configure") (memory $memory) (realloc $realloc)))
                (instance $i-lifecycle (export "configure" (func $configure)))
                (export "edgewright:plugin/lifecycle@0.1.0" (instance $i-lifecycle))"#;
        }
        if let Some(body) = self.on_log {
            core += &format!(r#"(func (export "on-log") (param $entry i32) {body})"#);
            exports += LOG_EXPORT;
        }
        format!(
            r#"(component {TYPES} {HEADS} {imports}
                (core module $memory
                    (memory (export "memory") {pages})
                    (global $free (export "free") (mut i32) (i32.const 4096))
                    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
                        (local $at i32)
                        (local.set $at (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
                        (global.set $free (i32.add (local.get $at) (local.get 3)))
                        (local.get $at)))
                (core instance $m (instantiate $memory))
                (alias core export $m "memory" (core memory $memory))
                (alias core export $m "realloc" (core func $realloc))
                (core func $get (canon lower (func $request "header") (memory $memory) (realloc $realloc)))
                (core func $set (canon lower (func $request "set-header") (memory $memory)))
                (core func $set-out (canon lower (func $response "set-header") (memory $memory)))
                (core module $code
                    (import "m" "memory" (memory 1))
                    (import "m" "free" (global $free (mut i32)))
                    (import "host" "get" (func $get (param i32 i32 i32)))
                    (import "host" "set" (func $set (param i32 i32 i32 i32 i32)))
                    (import "host" "set-out" (func $set-out (param i32 i32 i32 i32 i32)))
                    {DATA} {items} {core})
                (core instance $guest (instantiate $code (with "m" (instance $m)) (with "host" (instance
                    (export "get" (func $get)) (export "set" (func $set)) (export "set-out" (func $set-out))))))
                {exports})"#
        )
    }
}

/// A type of its own in an export has to be named by a component around it.
const LOG_EXPORT: &str = r#"
    (type $entry (record (field "status" u16) (field "duration-us" u64) (field "request-bytes" u64)
        (field "response-bytes" u64) (field "upstream" (option string)) (field "peer" (option string))
        (field "decided-by" (option string)) (field "error" (option string))))
    (func $on-log (param "config" u32) (param "entry" $entry)
        (canon lift (core func $guest "on-log") (memory $memory) (realloc $realloc)))
    (component $named
        (type $plain (record (field "status" u16) (field "duration-us" u64) (field "request-bytes" u64)
            (field "response-bytes" u64) (field "upstream" (option string)) (field "peer" (option string))
            (field "decided-by" (option string)) (field "error" (option string))))
        (import "entry" (type $in (eq $plain)))
        (import "on-log" (func $f (param "config" u32) (param "entry" $in)))
        (export $out "entry" (type $plain))
        (export "on-log" (func $f) (func (param "config" u32) (param "entry" $out))))
    (instance $i-log (instantiate $named (with "on-log" (func $on-log)) (with "entry" (type $entry))))
    (export "edgewright:plugin/log-filter@0.1.0" (instance $i-log))"#;
