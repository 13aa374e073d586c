import { checkReactions } from '../config/kinds.ts';
import { faultsOf, type DeclarationFault } from './check.ts';
import { compileDescriptor } from './compile.ts';
import type { DescriptorDeclaration } from './declare.ts';
import type { DescriptorType } from './define.ts';
import {
  languagesOf,
  localeFaults,
  localSentenceFaults,
  withLocalSentences,
  type LocaleDeclarations,
} from './host-locales.ts';
import type { Locale } from './locale.ts';
import { ALWAYS, PACK_NAMES, PACKS, type PackName } from './packs/packs.ts';
import { SHIPPED_PHRASES, type PhraseMessages } from './phrases.ts';

export interface HostConfig<
  D extends readonly DescriptorDeclaration[] = readonly DescriptorDeclaration[],
  P extends readonly PackName[] = readonly PackName[],
> {
  /** Types that come with the server. Default: all, `recruiting` and `social`. `Custom` is there in any case. */
  readonly packs?: P;
  /** The reactions that people may give. The setting REACTIONS comes before it. */
  readonly reactions?: readonly string[];
  /** Languages of sentences beside English and German, by tag. */
  readonly locales?: LocaleDeclarations;
  /** Types of its own. */
  readonly descriptors?: D;
}

/** The configuration of a host, as `fanfare.config.ts` exports it. Nothing is checked before the server starts. */
export function defineConfig<
  const D extends readonly DescriptorDeclaration[] = readonly [],
  const P extends readonly PackName[] = readonly ['recruiting', 'social'],
>(config: HostConfig<D, P>): HostConfig<D, P> {
  return config;
}

/** Names every fault of a configuration at once. */
export class HostConfigError extends Error {
  override readonly name = 'HostConfigError';
  readonly faults: readonly DeclarationFault[];

  /** @param source the file, or what else it comes from. */
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
  /** Null: it names none. */
  readonly reactions: readonly string[] | null;
  /** The languages that sentences are served in, English first. */
  readonly languages: ReadonlyMap<Locale, PhraseMessages>;
  /** What it came from, for messages. */
  readonly source: string;
}

const MAX_TYPES = 200;
/** Of the 64 indexes that a collection may have in MongoDB the server takes some itself. */
const MAX_INDEXED = 16;
const KNOWN = ['packs', 'reactions', 'locales', 'descriptors'];

/** @throws HostConfigError that names every fault. */
export function checkHostConfig(config: unknown, source: string): CheckedHostConfig {
  if (typeof config !== 'object' || config === null || Array.isArray(config))
    throw new HostConfigError(
      [{ path: '', message: 'Must be an object, as defineConfig() takes it' }],
      source,
    );
  const { packs, reactions, locales, descriptors } = config as Record<string, unknown>;
  const own: readonly unknown[] = Array.isArray(descriptors) ? descriptors : [];
  // A fault of a language is none of the sentences in it.
  const known = [...SHIPPED_PHRASES.keys(), ...Object.keys(locales ?? {})];
  const faults = [
    ...Object.keys(config)
      .filter((key) => !KNOWN.includes(key))
      .map((key) => ({ path: key, message: `There is no such setting, those are ${KNOWN.join(', ')}` })),
    ...packFaults(packs),
    ...reactionFaults(reactions),
    ...localeFaults(locales),
    ...(descriptors === undefined || Array.isArray(descriptors)
      ? []
      : [{ path: 'descriptors', message: 'Must be a list' }]),
    ...own.flatMap((declaration, index) => faultsOf(declaration, placeOf(declaration, index), known)),
  ];
  if (faults.length > 0) throw new HostConfigError(faults, source);
  const added = (locales ?? {}) as LocaleDeclarations;
  const declared = [...packsOf(packs), ...(own as readonly DescriptorDeclaration[])];
  const together = [...localSentenceFaults(added, declared), ...togetherFaults(declared, own.length)];
  if (together.length > 0) throw new HostConfigError(together, source);
  return {
    types: declared.map((declaration) => compileDescriptor(withLocalSentences(declaration, added))),
    languages: languagesOf(added),
    reactions: reactions === undefined ? null : (reactions as readonly string[]),
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
            message: `There is no pack ${JSON.stringify(pack)}, those are ${names.join(', ')}`,
          },
        ],
  );
}

function reactionFaults(reactions: unknown): DeclarationFault[] {
  if (reactions === undefined) return [];
  const isList = Array.isArray(reactions) && reactions.every((reaction) => typeof reaction === 'string');
  const expects = isList ? checkReactions(reactions) : 'a list of texts';
  return expects === null ? [] : [{ path: 'reactions', message: `Expected ${expects}` }];
}

/** With its type, which says more than its number. */
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
      faults.push({ path, message: `There is a type ${declaration.type} already, here or in a pack` });
    seen.add(declaration.type);
    for (const [name, { options }] of Object.entries(declaration.fields))
      if ('indexed' in options && (options.indexed ?? false)) indexed.add(name);
  }
  if (declared.length > MAX_TYPES)
    faults.push({
      path: 'descriptors',
      message: `Must be at most ${String(MAX_TYPES)} types with those of packs`,
    });
  if (indexed.size > MAX_INDEXED)
    faults.push({
      path: 'descriptors',
      message: `Must have at most ${String(MAX_INDEXED)} indexed fields of different names, got ${String(indexed.size)}`,
    });
  return faults;
}
