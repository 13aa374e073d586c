/** The same to be disposed among asynchronous ones. */
export function syncToAsync(disposable: Disposable): AsyncDisposable {
  return {
    [Symbol.asyncDispose]: () => {
      disposable[Symbol.dispose]();
      return Promise.resolve();
    },
  };
}
