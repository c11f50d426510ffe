/** A port of loopback that is free now, outside of the range for outgoing connections. Throws where there is none. */
export function freePort(): Promise<number>;
