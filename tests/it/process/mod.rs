//! The real binary, as an operator meets it: what it says when it starts or will not, what survives
//! its sudden end, its management address, its log, and every command.

mod accounts;
mod apply;
mod commands;
mod development;
mod disk;
mod life;
mod log;
mod logouts;
mod management;
mod refusals;
mod registration;
mod set_up;
mod sockets;
mod tls;
