import type { Locale } from '../descriptors/locale.ts';
import { summaryOf, type Described, type NameSession } from './sentences.ts';
import { declarationOf } from './types/descriptor.ts';

/** What an action says in one sentence; of a type that nobody declares, its name. */
export async function sentenceOfAction(
  session: NameSession,
  action: Described,
  locale: Locale,
): Promise<string> {
  const descriptor = declarationOf(action.descriptor);
  return descriptor === undefined ? action.descriptor.type : summaryOf(session, action, descriptor, locale);
}
