import type { CommandStartedEvent, MongoClient } from 'mongodb';
import { openClientSpan, type OpenSpan } from '../../telemetry/tracing.ts';

/**
 * A span for each command that a traced request or pass sends; the client has to monitor commands. The package that
 * OpenTelemetry has for this replaces methods of the driver as it is loaded; the driver's own events need no such thing.
 */
export function traceCommands(client: MongoClient): void {
  const open = new Map<number, OpenSpan>();
  const take = (requestId: number): OpenSpan | undefined => {
    const span = open.get(requestId);
    open.delete(requestId);
    return span;
  };
  client.on('commandStarted', (event) => {
    const collection = collectionOf(event);
    const span = openClientSpan(`${event.commandName} ${collection}`.trimEnd(), () => ({
      'db.system.name': 'mongodb',
      'db.namespace': event.databaseName,
      'db.operation.name': event.commandName,
      'db.collection.name': collection,
    }));
    if (span !== null) open.set(event.requestId, span);
  });
  client.on('commandSucceeded', ({ requestId }) => take(requestId)?.end());
  client.on('commandFailed', ({ requestId, failure }) => take(requestId)?.fail(failure));
}

function collectionOf({ command, commandName }: CommandStartedEvent): string {
  // A further batch names its collection beside its cursor.
  const named: unknown = commandName === 'getMore' ? command['collection'] : command[commandName];
  return typeof named === 'string' ? named : '';
}
