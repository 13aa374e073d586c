import { expect, onTestFinished, test } from 'vitest';
import { createRequest } from '../../src/request.ts';

const never = (): Promise<string> => new Promise(() => undefined);

test('a token function that never answers does not keep a query from ending: by its signal', async () => {
  const abort = new AbortController();
  const request = createRequest({ url: 'http://localhost', token: never, timeoutMs: 30_000 });
  const asked = request('{ feed { state } }', {}, abort.signal);
  abort.abort();
  await expect(asked).rejects.toMatchObject({ code: 'NETWORK', isTemporary: true });
});

test('nor by its time', async () => {
  const request = createRequest({ url: 'http://localhost', token: never, timeoutMs: 1 });
  await expect(request('{ feed { state } }')).rejects.toMatchObject({ code: 'NETWORK', isTemporary: true });
});

test('both in a browser that has no AbortSignal.any and no AbortSignal.timeout', async () => {
  for (const name of ['any', 'timeout'] as const) {
    const whole = AbortSignal[name];
    Reflect.deleteProperty(AbortSignal, name);
    onTestFinished(() => {
      Object.defineProperty(AbortSignal, name, { value: whole, configurable: true, writable: true });
    });
  }
  const abort = new AbortController();
  const request = createRequest({ url: 'http://localhost', token: never, timeoutMs: 30_000 });
  const asked = request('{ feed { state } }', {}, abort.signal);
  abort.abort();
  await expect(asked).rejects.toMatchObject({ code: 'NETWORK' });
});
