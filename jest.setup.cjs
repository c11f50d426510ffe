// Node's fetch rejects with a TypeError of the outer realm. Inside jest's sandbox `error instanceof TypeError` is
// then false, and the model SDK takes a failed connection for something else. Rethrow as the sandbox's own TypeError.
const outerFetch = globalThis.fetch;

globalThis.fetch = async (...request) => {
  try {
    return await outerFetch(...request);
  } catch (error) {
    if (error?.name !== 'TypeError' || error instanceof TypeError) throw error;
    const { cause } = error;
    throw new TypeError(error.message, {
      cause: cause && Object.assign(new Error(cause.message), { code: cause.code }),
    });
  }
};
