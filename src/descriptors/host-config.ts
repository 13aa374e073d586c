import { z } from 'zod';
import { checkReactions } from '../config/kinds.ts';
import { faultsOf, pathOf, type DeclarationFault } from './check.ts';
import { compileDescriptor } from './compile.ts';
import type { DescriptorDeclaration } from './declare.ts';
import type { DescriptorType } from './define.ts';
import {
  CHANNELS,
  NOTIFICATION_KINDS,
  type Channel,
  type HostPreference,
  type NotificationKind,
} from '../domain/notification.ts';
import {
  languagesOf,
  localeFaults,
  localSentenceFaults,
  withLocalSentences,
  type LocaleDeclarations,
} from './host-locales.ts';
import { HOOK_NAMES, hookFaults, hooksOf, type CheckedHooks, type HostHooks } from './host-hooks.ts';
import { partFaults, type HostPart } from './host-parts.ts';
import { viewFaults, viewsOf, type DeclaredView, type HostView } from './host-views.ts';
import type { Locale } from './locale.ts';
import { ALWAYS, PACK_NAMES, PACKS, type PackName } from './packs/packs.ts';
import { SHIPPED_PHRASES, type PhraseMessages } from './sentence.ts';

/** What does not depend on the host's own types. Parts of the server add keys of their own. */
export interface HostOptions {
  /** Reactions that members can give. The setting REACTIONS overrides it. */
  readonly reactions?: readonly string[];
  /** Languages of sentences beside English and German, by language tag. */
  readonly locales?: LocaleDeclarations;
  /** How members are notified unless they choose otherwise. Default: in the list, and by push messages. */
  readonly notifications?: readonly NotificationDefault[];
  /** Lists beside the feed, by name, in the order in which clients are to offer them. */
  readonly views?: Readonly<Record<string, HostView>>;
}

export interface HostConfig<
  D extends readonly DescriptorDeclaration[] = readonly DescriptorDeclaration[],
  P extends readonly PackName[] = readonly PackName[],
>
  extends HostOptions, HostHooks {
  /** Packs of types that ship with the server. Default: all (`recruiting`, `social`). `Custom` is always available. */
  readonly packs?: P;
  /** The host's own types. */
  readonly descriptors?: D;
}

/** A default preference of notifications. */
export interface NotificationDefault {
  readonly kind: NotificationKind;
  /** Only for actions of this type. Default: all types. */
  readonly type?: string;
  readonly channel: Channel;
  readonly isOn: boolean;
  /** Members cannot change it. Default: false. */
  readonly isLocked?: boolean;
}

/** Configuration of a host, the default export of `fanfare.config.ts`. The server checks it at start. */
export function defineConfig<
  const D extends readonly DescriptorDeclaration[] = readonly [],
  const P extends readonly PackName[] = readonly ['recruiting', 'social'],
>(config: HostConfig<D, P>): HostConfig<D, P> {
  return config;
}

/** Lists every fault of a configuration at once. */
export class HostConfigError extends Error {
  override readonly name = 'HostConfigError';
  readonly faults: readonly DeclarationFault[];

  /** @param source path of the file, or another name of the origin. */
  constructor(faults: readonly DeclarationFault[], source: string) {
    const lines = faults.map(({ path, message }) => `  ${path === '' ? '' : `${path}: `}${message}`);
    super(
      `${source} has ${faults.length === 1 ? 'a fault' : `${String(faults.length)} faults`}:\n${lines.join('\n')}`,
    );
    this.faults = faults;
  }
}

export interface CheckedHostConfig {
  readonly types: readonly DescriptorType[];
  /** `null`: the configuration names none. */
  readonly reactions: readonly string[] | null;
  /** Questions to the host before something is recorded. */
  readonly hooks: CheckedHooks;
  /** Languages served, English first. */
  readonly languages: ReadonlyMap<Locale, PhraseMessages>;
  readonly notifications: readonly HostPreference[];
  readonly views: readonly DeclaredView[];
  /** As it was given, for parts of the server. */
  readonly given: Readonly<Record<string, unknown>>;
  /** Origin of the configuration, for messages. */
  readonly source: string;
}

const MAX_TYPES = 200;
/** MongoDB allows 64 indexes per collection, and the server needs some of them. */
const MAX_INDEXED = 16;
const KNOWN = ['packs', 'reactions', 'locales', 'descriptors', 'notifications', 'views'];

const notificationsSchema = z.array(
  z.strictObject({
    kind: z.enum(NOTIFICATION_KINDS),
    type: z.string().optional(),
    channel: z.enum(CHANNELS),
    isOn: z.boolean(),
    isLocked: z.boolean().optional(),
  }),
);

/** @throws HostConfigError with every fault. */
export function checkHostConfig(
  config: unknown,
  source: string,
  parts: readonly HostPart[] = [],
): CheckedHostConfig {
  if (typeof config !== 'object' || config === null || Array.isArray(config))
    throw new HostConfigError(
      [{ path: '', message: 'Must be an object, as defineConfig() takes it' }],
      source,
    );
  const given = config as Record<string, unknown>;
  const { packs, reactions, locales, descriptors, notifications = [], views } = given;
  const own: readonly unknown[] = Array.isArray(descriptors) ? descriptors : [];
  // Check sentences in a faulty locale too: the locale's own faults are reported separately.
  const known = [...SHIPPED_PHRASES.keys(), ...Object.keys(locales ?? {})];
  const keys = [...KNOWN, ...parts.map(({ key }) => key), ...HOOK_NAMES];
  const faults = [
    ...Object.keys(config)
      .filter((key) => !keys.includes(key))
      .map((key) => ({ path: key, message: `Unknown setting; known are ${keys.join(', ')}` })),
    ...packFaults(packs),
    ...reactionFaults(reactions),
    ...localeFaults(locales, parts),
    ...notificationFaults(notifications),
    ...viewFaults(views),
    ...partFaults(parts, given),
    ...hookFaults(given),
    ...(descriptors === undefined || Array.isArray(descriptors)
      ? []
      : [{ path: 'descriptors', message: 'Must be a list' }]),
    ...own.flatMap((declaration, index) => faultsOf(declaration, placeOf(declaration, index), known)),
  ];
  if (faults.length > 0) throw new HostConfigError(faults, source);
  const added = (locales ?? {}) as LocaleDeclarations;
  const declared = [...packsOf(packs), ...(own as readonly DescriptorDeclaration[])];
  const defaults = notifications as readonly NotificationDefault[];
  const together = [
    ...localSentenceFaults(added, declared),
    ...togetherFaults(declared, own.length),
    ...defaults.flatMap(({ type }, index) =>
      type === undefined || declared.some((one) => one.type === type)
        ? []
        : [{ path: `notifications[${String(index)}].type`, message: 'There is no such type' }],
    ),
  ];
  if (together.length > 0) throw new HostConfigError(together, source);
  return {
    types: declared.map((declaration) => compileDescriptor(withLocalSentences(declaration, added))),
    languages: languagesOf(added),
    notifications: defaults.map(({ type, isLocked, ...one }) => ({
      ...one,
      ...{ type: type ?? null, isLocked: isLocked ?? false },
    })),
    views: viewsOf(views),
    given,
    reactions: reactions === undefined ? null : (reactions as readonly string[]),
    hooks: hooksOf(given),
    source,
  };
}

function packsOf(packs: unknown): readonly DescriptorDeclaration[] {
  const names = packs === undefined ? PACK_NAMES : (packs as readonly PackName[]);
  return [
    ...PACK_NAMES.filter((name) => names.includes(name)).flatMap((name) => [...PACKS[name]]),
    ...ALWAYS,
  ];
}

function packFaults(packs: unknown): DeclarationFault[] {
  if (packs === undefined) return [];
  if (!Array.isArray(packs)) return [{ path: 'packs', message: 'Must be a list' }];
  const names: readonly string[] = PACK_NAMES;
  return (packs as readonly unknown[]).flatMap((pack, index) =>
    typeof pack === 'string' && names.includes(pack)
      ? []
      : [
          {
            path: `packs[${String(index)}]`,
            message: `Unknown pack ${JSON.stringify(pack)}; known are ${names.join(', ')}`,
          },
        ],
  );
}

function notificationFaults(notifications: unknown): DeclarationFault[] {
  const { error } = notificationsSchema.safeParse(notifications);
  return (error?.issues ?? []).map(({ path, message }) => ({ path: pathOf('notifications', path), message }));
}

function reactionFaults(reactions: unknown): DeclarationFault[] {
  if (reactions === undefined) return [];
  const isList = Array.isArray(reactions) && reactions.every((reaction) => typeof reaction === 'string');
  const expects = isList ? checkReactions(reactions) : 'a list of texts';
  return expects === null ? [] : [{ path: 'reactions', message: `Expected ${expects}` }];
}

/** Names the declaration's type, which is clearer than its index. */
function placeOf(declaration: unknown, index: number): string {
  const isNamed = typeof declaration === 'object' && declaration !== null && 'type' in declaration;
  const name = isNamed && typeof declaration.type === 'string' ? ` ${declaration.type}` : '';
  return `descriptors[${String(index)}]${name}`;
}

function togetherFaults(declared: readonly DescriptorDeclaration[], own: number): DeclarationFault[] {
  const faults: DeclarationFault[] = [];
  const shipped = declared.length - own;
  const seen = new Set<string>();
  const indexed = new Set<string>();
  for (const [position, declaration] of declared.entries()) {
    const path = placeOf(declaration, position - shipped);
    if (seen.has(declaration.type))
      faults.push({ path, message: `The type ${declaration.type} is already declared, here or in a pack` });
    seen.add(declaration.type);
    for (const [name, { options }] of Object.entries(declaration.fields))
      if ('indexed' in options && (options.indexed ?? false)) indexed.add(name);
  }
  if (declared.length > MAX_TYPES)
    faults.push({
      path: 'descriptors',
      message: `Must be at most ${String(MAX_TYPES)} types, including those of packs`,
    });
  if (indexed.size > MAX_INDEXED)
    faults.push({
      path: 'descriptors',
      message: `Must have at most ${String(MAX_INDEXED)} different indexed field names, got ${String(indexed.size)}`,
    });
  return faults;
}
