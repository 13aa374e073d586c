import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createYoga } from 'graphql-yoga';
import { expect, test } from 'vitest';
import { sendResponse, sendStream } from '../../../src/http/exchange/respond.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

const { Response: YogaResponse, ReadableStream: YogaStream } = createYoga({ logging: false }).fetchAPI;

/** Answers one request by hand. */
async function answering(handle: (res: ServerResponse) => Promise<void>) {
  let handled: Promise<void> | undefined;
  const server = createServer((_req, res) => {
    handled = handle(res);
    // Looked at later; until then a failure is not unhandled.
    handled.catch(() => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const req = request({ port: (server.address() as AddressInfo).port });
  req.end();
  const [response] = (await once(req, 'response')) as [IncomingMessage];
  return {
    req,
    response,
    done: handled ?? Promise.reject(new Error('Not asked')),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A stream like those of Yoga that never ends, and tells what becomes of it. */
function endless(chunk: Uint8Array) {
  const state = { pulled: 0, isCancelled: false };
  const body = new YogaStream({
    pull(controller: ReadableStreamDefaultController) {
      state.pulled += 1;
      controller.enqueue(chunk);
    },
    cancel() {
      state.isCancelled = true;
    },
  });
  return { state, response: new YogaResponse(body, { headers: { 'content-type': 'text/event-stream' } }) };
}

test('sends a complete response with its length, and each header once', async () => {
  await using exchange = await answering((res) =>
    sendResponse(
      res,
      new YogaResponse('grün', { status: 418, headers: { 'Content-Type': 'text/plain', 'X-Y': 'z' } }),
    ),
  );
  expect(exchange.response.statusCode).toBe(418);
  expect(exchange.response.headers).toMatchObject({
    'content-length': '5',
    'content-type': 'text/plain',
    'x-y': 'z',
  });
  await exchange.done;
});

test('reads a stream no faster than its client, and not at all once the client has gone', async () => {
  const { state, response } = endless(new Uint8Array(64 * 1024));
  await using exchange = await answering((res) => sendStream(res, response));
  exchange.response.pause();
  // Nobody reads: what is pulled settles at what the buffers on the way hold.
  let before = -1;
  await expect
    .poll(
      () => {
        const isSettled = state.pulled === before;
        before = state.pulled;
        return isSettled;
      },
      { interval: 200, timeout: PATIENCE_MS },
    )
    .toBe(true);
  expect(state.pulled * 64).toBeLessThan(50_000);
  exchange.req.destroy();
  await exchange.done;
  expect(state.isCancelled).toBe(true);
});

test('stops waiting for a silent stream when the client leaves', async () => {
  let isCancelled = false;
  const body = new YogaStream({
    start(controller: ReadableStreamDefaultController) {
      controller.enqueue(new TextEncoder().encode(':\n\n'));
    },
    pull: () => new Promise<void>(() => undefined),
    cancel() {
      isCancelled = true;
    },
  });
  await using exchange = await answering((res) => sendStream(res, new YogaResponse(body)));
  exchange.req.destroy();
  await exchange.done;
  expect(isCancelled).toBe(true);
});

test('handles a client that left before its stream began', async () => {
  const state = { hasBegun: false, isCancelled: false };
  const body = new YogaStream({
    start(controller: ReadableStreamDefaultController) {
      state.hasBegun = true;
      controller.enqueue(new TextEncoder().encode(':\n\n'));
    },
    pull: () => new Promise<void>(() => undefined),
    cancel() {
      if (!state.hasBegun) throw new Error('Cancelled before it began');
      state.isCancelled = true;
    },
  });
  await using exchange = await answering(async (res) => {
    res.writeHead(200).flushHeaders();
    await once(res, 'close');
    await sendStream(res, new YogaResponse(body));
  });
  exchange.req.destroy();
  await exchange.done;
  expect(state).toEqual({ hasBegun: true, isCancelled: true });
});

test('fails if the stream fails', async () => {
  const body = new YogaStream({
    pull(controller: ReadableStreamDefaultController) {
      controller.error(new Error('Broken'));
    },
  });
  await using exchange = await answering((res) => sendStream(res, new YogaResponse(body)));
  exchange.response.resume();
  await expect(exchange.done).rejects.toThrow('Broken');
});
