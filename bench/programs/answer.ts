import type { Api } from '../harness/child.ts';

interface Call {
  readonly id: number;
  readonly name: string;
  readonly argument: unknown;
}

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
}

async function reply({ id, name, argument }: Call): Promise<void> {
  const handler = handlers.get(name);
  try {
    if (handler === undefined) throw new Error(`Nothing answers to ${name}`);
    process.send?.({ id, value: await handler(argument as never) });
  } catch (error) {
    process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}
