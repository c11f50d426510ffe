/** Largest message that is read from a server. JSON escapes may double a text of the largest size that we keep. */
export const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;
/** JSON-RPC error code with which we answer ourselves in place of a message that was too large. */
export const TOO_LARGE = -32_098;
/** Starting a server may fetch its package first. */
export const CONNECT_TIMEOUT_MS = 30_000;
/** A tool that reports progress may work this long in all, whatever its time-out (C28). */
export const PROGRESS_CAP_MS = 15 * 60_000;
/** After the stream of an answer broke, the server gets this long to go on with it. */
export const RESUME_MS = 5_000;
/** A session that nobody used for so long is closed. */
export const IDLE_MS = 5 * 60_000;
/** Servers list their tools in pages; one that never ends is broken. */
export const MAX_TOOL_PAGES = 50;
/** Sessions of one process; each may be an operating system process of tens of megabytes. */
export const MAX_SESSIONS = 64;
