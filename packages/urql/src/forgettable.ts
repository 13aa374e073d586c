import {
  makeErrorResult,
  makeOperation,
  type Exchange,
  type Operation,
  type OperationResult,
} from '@urql/core';
import type { Forgetting } from '@fanfare/client/cache';
import { filter, fromValue, makeSubject, merge, onPush, pipe, share, switchMap } from 'wonka';

/** An exchange that can be made again: a cache of urql cannot be emptied. */
export function forgettable(create: () => Exchange): Forgetting & { readonly exchange: Exchange } {
  /** What has no answer yet, and what is on the screen. */
  const active = new Map<number, Operation>();
  const renewed = makeSubject<undefined>();
  const sent = makeSubject<Operation>();
  const said = makeSubject<OperationResult>();
  let again: (operation: Operation) => void = () => undefined;
  const exchange: Exchange = (input) => (operations$) => {
    again = (operation) => input.client.reexecuteOperation(operation);
    const shared$ = share(operations$);
    const kept$ = pipe(
      shared$,
      onPush((operation) => {
        if (operation.kind === 'teardown') active.delete(operation.key);
        else active.set(operation.key, operation);
      }),
      filter((_): _ is never => false),
    );
    // What comes behind is made once, whatever is before it.
    const answers$ = share(input.forward(sent.source));
    // The cache listens to it twice: without `share` each operation would be sent twice.
    const forward: typeof input.forward = (forwarded$) =>
      share(
        merge([
          answers$,
          pipe(
            forwarded$,
            onPush((operation) => sent.next(operation)),
            filter((_): _ is never => false),
          ),
        ]),
      );
    const results$ = pipe(
      merge([fromValue(undefined), renewed.source]),
      switchMap(() => create()({ ...input, forward })(shared$)),
      onPush(({ operation: { kind, key } }) => {
        if (kind === 'mutation') active.delete(key);
      }),
    );
    return merge<OperationResult>([
      kept$,
      pipe(
        answers$,
        filter((_): _ is never => false),
      ),
      results$,
      said.source,
    ]);
  };
  return {
    exchange,
    forget(why, isFinal) {
      for (const operation of active.values()) sent.next(makeOperation('teardown', operation));
      renewed.next(undefined);
      for (const operation of active.values()) {
        if (operation.kind === 'subscription') continue;
        const { error: _error, ...nothing } = makeErrorResult(operation, why);
        // A screen shows nothing until it is answered again.
        if (operation.kind === 'query' && !isFinal) said.next({ ...nothing, stale: true });
        else said.next(makeErrorResult(operation, why));
      }
    },
    begin() {
      for (const operation of active.values())
        if (operation.kind !== 'mutation')
          again(
            makeOperation(operation.kind, operation, { ...operation.context, requestPolicy: 'network-only' }),
          );
      return Promise.resolve();
    },
  };
}
