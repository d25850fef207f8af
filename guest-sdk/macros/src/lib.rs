//! The `#[plugin]` attribute of `edgewright-sdk`: reads which phases an `impl Plugin` has and exports just
//! these. Must not know what a phase does: names only.

use proc_macro::TokenStream;
use proc_macro2::{Span, TokenStream as Tokens};
use quote::{format_ident, quote};
use syn::{Error, ImplItem, ItemImpl, parse_macro_input};

/// The methods of `Plugin` that are phases, with the module of the SDK's bindings that exports each.
const PHASES: [(&str, &str); 7] = [
    ("on_request", "request_filter"),
    ("on_upstream_request", "upstream_request_filter"),
    ("on_request_body", "request_body_filter"),
    ("on_response", "response_filter"),
    ("on_response_body", "response_body_filter"),
    ("on_error", "error_filter"),
    ("on_log", "log_filter"),
];

/// Makes a component of an `impl Plugin for …`.
///
/// The component exports `lifecycle` and the phases whose methods the block has, no others: the proxy does
/// not call a phase that is not exported, so a method that is left out costs nothing. A crate has one
/// `#[plugin]`.
#[proc_macro_attribute]
pub fn plugin(attributes: TokenStream, item: TokenStream) -> TokenStream {
    let block = parse_macro_input!(item as ItemImpl);
    let exports = if attributes.is_empty() {
        exports_of(&block)
    } else {
        Err(Error::new(Span::call_site(), "`#[plugin]` takes no arguments"))
    };
    let exports = exports.unwrap_or_else(Error::into_compile_error);
    quote!(#block #exports).into()
}

fn exports_of(block: &ItemImpl) -> Result<Tokens, Error> {
    let is_plugin = block
        .trait_
        .as_ref()
        .and_then(|(_, path, _)| path.segments.last())
        .is_some_and(|segment| segment.ident == "Plugin");
    if !is_plugin {
        return Err(Error::new_spanned(&block.self_ty, "`#[plugin]` goes on an `impl Plugin for …` block"));
    }
    if !block.generics.params.is_empty() {
        return Err(Error::new_spanned(&block.generics, "a plugin's type can't be generic"));
    }

    let mut exports = vec![format_ident!("lifecycle")];
    for item in &block.items {
        if let ImplItem::Fn(method) = item {
            let phase = PHASES.iter().find(|(name, _)| method.sig.ident == name);
            exports.extend(phase.map(|(_, module)| format_ident!("{module}")));
        }
    }

    let plugin = &block.self_ty;
    Ok(quote! {
        #[cfg(target_arch = "wasm32")]
        const _: () = {
            ::std::thread_local! {
                static INSTANCES: ::edgewright_sdk::export::Instances<#plugin> =
                    const { ::edgewright_sdk::export::Instances::new() };
            }

            impl ::edgewright_sdk::export::Hosted for #plugin {
                fn instances() -> &'static ::std::thread::LocalKey<::edgewright_sdk::export::Instances<Self>> {
                    &INSTANCES
                }
            }

            type Exported = ::edgewright_sdk::export::Export<#plugin>;
            #(::edgewright_sdk::bindings::#exports::export!(Exported);)*
        };

        // Elsewhere nothing is exported: this is the use that keeps the plugin from being dead code.
        #[cfg(not(target_arch = "wasm32"))]
        const _: fn(&str) -> Result<#plugin, String> = ::edgewright_sdk::testing::configure::<#plugin>;
    })
}
