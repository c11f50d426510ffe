/** Key under which a method carries the name it is served by. */
export const RPC_METHOD = Symbol('RPC_METHOD');

/**
 * Serves a provider's method on `runyard.rpc.<service>.<name>`. The method is an RpcHandler:
 * `(caller, input) => Promise<unknown>`, where `input` is unparsed.
 */
export function RpcMethod(name: string): MethodDecorator {
  return (_target, _key, descriptor: PropertyDescriptor) => {
    Object.defineProperty(descriptor.value, RPC_METHOD, { value: name });
  };
}

/** Name that a function is served by; undefined for any other function. */
export function rpcNameOf(method: unknown): string | undefined {
  if (typeof method !== 'function') return undefined;
  const name: unknown = Reflect.get(method, RPC_METHOD);
  return typeof name === 'string' ? name : undefined;
}
