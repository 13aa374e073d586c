import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { openLine, type Port } from '../../src/line.ts';

interface Questions {
  readonly name: string;
}

/** Longer than a test may take. */
const DAY_MS = 86_400_000;

class TestPort extends EventEmitter implements Port {
  readonly sent: unknown[] = [];

  send(message: object): void {
    this.sent.push(message);
  }
}

test('a process answers a request over its channel', async () => {
  const port = new TestPort();
  const line = openLine<object, Questions>(port, {}, DAY_MS);
  const asked = line.ask('name');
  expect(port.sent).toEqual([{ ask: 1, question: 'name' }]);
  port.emit('message', { answer: 1, value: 'Ann' });
  expect(await asked).toBe('Ann');
});

test('a request to a process that has ended does not wait', async () => {
  const port = new TestPort();
  const line = openLine<object, Questions>(port, {}, DAY_MS);
  const asked = Promise.allSettled([line.ask('name'), line.ask('name')]);
  port.emit('disconnect');
  const ended = { status: 'rejected', reason: new Error('The process has ended') };
  expect(await asked).toEqual([ended, ended]);
});
