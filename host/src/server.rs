//! Puts it all together and runs it: listeners, background services, shutdown.
