/**
 * An error that its own package catches and turns into something else: a response, a condition, a log line, a retry or a
 * `KubewrightError`. Its text matters, its class does not, so it has no code and no name of its own.
 */
export class CaughtError extends Error {}
