/** Of the sign-in with which this page was opened. Loaded where the host has accounts. */
import type { Account } from './session.ts';

/** Why nobody is signed in, in words. */
export interface Fault {
  readonly says: string;
  /** What to look at; empty: nothing more is known. */
  readonly hint?: string;
  /** What was said by others, as they said it. */
  readonly details: readonly string[];
}

interface Outcome {
  fault: Fault | null;
  /** An operator's, which acts nowhere before it is said in which tenant. */
  unnamed: { readonly account: Account; readonly token: string } | null;
}

export const outcome: Outcome = { fault: null, unnamed: null };

/** In the tab's storage: somebody is signed in by an account. No token: it stays in the memory of the page. */
export const ACCOUNT_KEY = 'fanfare:account';
