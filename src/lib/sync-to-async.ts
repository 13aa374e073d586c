/** Makes a synchronous disposable usable among asynchronous ones. */
export function syncToAsync(disposable: Disposable): AsyncDisposable {
  return {
    [Symbol.asyncDispose]: () => {
      disposable[Symbol.dispose]();
      return Promise.resolve();
    },
  };
}
