import type { Locale } from '../descriptors/locale.ts';
import type { ReaderSession } from '../feed/session/reader-session.ts';
import { summaryOf, type Described } from './sentences.ts';
import { declarationOf } from './types/descriptor.ts';

// Everything a server needs to answer its own process, loaded as one module.

export { printedSchema } from './printed-schema.ts';
export { runOperation } from './run-operation.ts';
export { buildSchema } from './schema.ts';

/** An action as one sentence; for undeclared types, the name of the type. */
export async function sentenceOfAction(
  session: ReaderSession,
  action: Described,
  locale: Locale,
): Promise<string> {
  const descriptor = declarationOf(action.descriptor);
  return descriptor === undefined ? action.descriptor.type : summaryOf(session, action, descriptor, locale);
}
