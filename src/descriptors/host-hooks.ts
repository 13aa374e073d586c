import { signedTarget } from '../config/signed-target.ts';
import type { InteractionToCheck, PublicationToCheck, Verdict } from '../domain/hook.ts';
import type { DeclarationFault } from './check.ts';

/** The answer of a hook. None means accept. */
type HookAnswer = Verdict | 'accept' | 'hold' | undefined | null;

/** A URL that is asked by POST, with the signature of webhooks. */
export interface HookUrl {
  readonly url: string;
  /** As for webhooks: `whsec_…`. */
  readonly secrets: readonly string[];
  /** Allows private network addresses and plain HTTP. Default: false. */
  readonly allowPrivateAddress?: boolean;
}

/** A function of the server's process, or a URL. It has two seconds, and what it does with its argument changes nothing. */
export type Hook<T> = ((what: T) => HookAnswer | Promise<HookAnswer>) | HookUrl;

export interface HostHooks {
  /** Asked before an action is recorded, but not for imports in bulk. */
  readonly beforePublish?: Hook<PublicationToCheck>;
  /** Asked before an interaction is recorded. */
  readonly beforeInteract?: Hook<InteractionToCheck>;
}

/** A checked `HookUrl`. */
export interface SignedTarget {
  readonly url: string;
  readonly keys: readonly Uint8Array[];
  readonly allowPrivateAddress: boolean;
}

export type CheckedHook = ((what: object) => unknown) | SignedTarget;

export interface CheckedHooks {
  readonly beforePublish: CheckedHook | null;
  readonly beforeInteract: CheckedHook | null;
}

export const HOOK_NAMES = ['beforePublish', 'beforeInteract'] as const;

export const NO_CHECKED_HOOKS: CheckedHooks = { beforePublish: null, beforeInteract: null };

export function hookFaults(config: Readonly<Record<string, unknown>>): DeclarationFault[] {
  return HOOK_NAMES.flatMap((path) => {
    const hook = config[path];
    if (hook === undefined || typeof hook === 'function') return [];
    const read = signedTarget.safeParse(hook);
    if (read.success) return [];
    const [issue] = read.error.issues;
    const place = issue?.path.map(String).join('.') ?? '';
    const expects = 'Must be a function, or { url, secrets }';
    return [{ path, message: place === '' ? expects : `${expects}; at ${place}: ${issue?.message ?? ''}` }];
  });
}

/** @param config without faults */
export function hooksOf(config: Readonly<Record<string, unknown>>): CheckedHooks {
  const checked = (name: (typeof HOOK_NAMES)[number]): CheckedHook | null => {
    const hook = config[name];
    if (hook === undefined) return null;
    return typeof hook === 'function' ? (hook as (what: object) => unknown) : signedTarget.parse(hook);
  };
  return { beforePublish: checked('beforePublish'), beforeInteract: checked('beforeInteract') };
}
