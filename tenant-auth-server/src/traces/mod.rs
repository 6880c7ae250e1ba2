//! Export of traces to an OpenTelemetry collector (OTLP over HTTP), in a program that was built with the feature `otlp`. Without the
//! feature the same names do nothing, so that the rest of the program need not ask.

#[cfg(feature = "otlp")]
mod collector;
#[cfg(feature = "otlp")]
mod continued;
#[cfg(feature = "otlp")]
mod conventions;
#[cfg(feature = "otlp")]
mod exporter;
#[cfg(not(feature = "otlp"))]
mod without;

#[cfg(not(feature = "otlp"))]
pub(crate) use without::{Traces, continued};
#[cfg(feature = "otlp")]
pub(crate) use {collector::Traces, continued::continued};
