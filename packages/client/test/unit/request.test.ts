import { expect, onTestFinished, test } from 'vitest';
import { OneReader } from '../../src/one-reader.ts';
import { createRequest } from '../../src/request.ts';

const never = (): Promise<string> => new Promise(() => undefined);

test('a query ends with its signal although the token function never responds', async () => {
  const abort = new AbortController();
  const request = createRequest({
    url: 'http://localhost',
    token: never,
    timeoutMs: 30_000,
    reader: new OneReader(),
  });
  const asked = request('{ feed { state } }', {}, abort.signal);
  abort.abort();
  await expect(asked).rejects.toMatchObject({ code: 'NETWORK', isTemporary: true });
});

test('a query ends after its timeout although the token function never responds', async () => {
  const request = createRequest({
    url: 'http://localhost',
    token: never,
    timeoutMs: 1,
    reader: new OneReader(),
  });
  await expect(request('{ feed { state } }')).rejects.toMatchObject({ code: 'NETWORK', isTemporary: true });
});

test('a query ends with its signal or timeout without AbortSignal.any and AbortSignal.timeout too', async () => {
  for (const name of ['any', 'timeout'] as const) {
    const whole = AbortSignal[name];
    Reflect.deleteProperty(AbortSignal, name);
    onTestFinished(() => {
      Object.defineProperty(AbortSignal, name, { value: whole, configurable: true, writable: true });
    });
  }
  const abort = new AbortController();
  const request = createRequest({
    url: 'http://localhost',
    token: never,
    timeoutMs: 30_000,
    reader: new OneReader(),
  });
  const asked = request('{ feed { state } }', {}, abort.signal);
  abort.abort();
  await expect(asked).rejects.toMatchObject({ code: 'NETWORK' });
});
