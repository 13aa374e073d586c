import type { Api } from '../harness/child.ts';

interface Call {
  readonly id: number;
  readonly name: string;
  readonly argument: unknown;
}

/** Calls that came before the program had said that it answers them. */
const early: Call[] = [];
const handlers = new Map<string, (argument: never) => unknown>();

/** Answers calls of the process that started this one. Names must differ over the whole process. */
export function answer(api: Api): void {
  if (handlers.size === 0) {
    process.on('message', (message) => void reply(message as Call));
    process.on('disconnect', () => process.exit(1));
    // Waiting for calls keeps no process alive that has come to its end.
    process.channel?.unref();
  }
  for (const [name, handler] of Object.entries(api)) handlers.set(name, handler);
  for (const call of early.splice(0)) void reply(call);
}

async function reply(call: Call): Promise<void> {
  const { id, name, argument } = call;
  const handler = handlers.get(name);
  if (handler === undefined) {
    early.push(call);
    return;
  }
  try {
    process.send?.({ id, value: await handler(argument as never) });
  } catch (error) {
    process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}
