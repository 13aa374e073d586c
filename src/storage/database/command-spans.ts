import type { CommandStartedEvent, MongoClient } from 'mongodb';
import { openClientSpan, type OpenSpan } from '../../telemetry/tracing.ts';

/**
 * Creates a span for each command of a traced request or pass; the client must monitor commands. Uses the driver's events,
 * whereas OpenTelemetry's own package patches the driver's methods at load time.
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
  // getMore names its collection in another field.
  const named: unknown = commandName === 'getMore' ? command['collection'] : command[commandName];
  return typeof named === 'string' ? named : '';
}
