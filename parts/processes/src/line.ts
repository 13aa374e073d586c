/** One end of the channel between a process and its parent: `process`, or a worker of node:cluster. */
export interface Port {
  send(message: object, onSent: (error: Error | null) => void): unknown;
  on(event: 'message' | 'disconnect', listener: (message?: unknown) => void): unknown;
}

type Answers<Q extends object> = { readonly [N in keyof Q]: () => Promise<Q[N]> };

export interface MessageLine<Theirs extends object> {
  /** @throws when the other end fails to answer, has died, or does not answer in time because it hangs. */
  ask<N extends keyof Theirs & string>(question: N, withinMs?: number): Promise<Theirs[N]>;
}

type Message =
  | { readonly ask: number; readonly question: string }
  | { readonly answer: number; readonly value?: unknown; readonly error?: string };

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Opens this end, which answers questions from now on. @param usualMs time limit for the other end's answers. */
export function openLine<Own extends object, Theirs extends object>(
  port: Port,
  answers: Answers<Own>,
  usualMs: number,
): MessageLine<Theirs> {
  const waiting = new Map<number, Waiting>();
  let asked = 0;
  const answer = async (id: number, question: string): Promise<void> => {
    let message: Message;
    try {
      const known = (answers as Readonly<Record<string, () => Promise<unknown>>>)[question];
      if (known === undefined) throw new Error(`Unknown question ${question}`);
      message = { answer: id, value: await known() };
    } catch (error) {
      message = { answer: id, error: error instanceof Error ? error.message : String(error) };
    }
    // The asking process has died, or has stopped waiting.
    port.send(message, () => undefined);
  };
  port.on('message', (message) => {
    if (!isMessage(message)) return;
    if ('ask' in message) {
      void answer(message.ask, message.question);
      return;
    }
    const { resolve, reject } = waiting.get(message.answer) ?? {};
    if (message.error === undefined) resolve?.(message.value);
    else reject?.(new Error(message.error));
  });
  // Nobody waits for a process that is gone: the pending timers would keep this one alive.
  port.on('disconnect', () => {
    for (const { reject } of waiting.values()) reject(new Error('The process has ended'));
  });
  return {
    ask<N extends keyof Theirs & string>(question: N, withinMs = usualMs) {
      const id = (asked += 1);
      let timer: NodeJS.Timeout | undefined;
      return new Promise<Theirs[N]>((resolve, reject) => {
        timer = setTimeout(() => reject(new Error('The process did not answer in time')), withinMs);
        waiting.set(id, { resolve: (value) => resolve(value as Theirs[N]), reject });
        port.send({ ask: id, question }, (error) => {
          if (error !== null) reject(error);
        });
      }).finally(() => {
        clearTimeout(timer);
        waiting.delete(id);
      });
    },
  };
}

function isMessage(message: unknown): message is Message {
  return typeof message === 'object' && message !== null && ('ask' in message || 'answer' in message);
}
