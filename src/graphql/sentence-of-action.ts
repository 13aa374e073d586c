import type { Locale } from '../descriptors/locale.ts';
import { summaryOf, type Described, type NameSession } from './sentences.ts';
import { declarationOf } from './types/descriptor.ts';

/** An action as one sentence; for undeclared types, the name of the type. */
export async function sentenceOfAction(
  session: NameSession,
  action: Described,
  locale: Locale,
): Promise<string> {
  const descriptor = declarationOf(action.descriptor);
  return descriptor === undefined ? action.descriptor.type : summaryOf(session, action, descriptor, locale);
}
