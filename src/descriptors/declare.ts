import type { FieldDeclaration } from './field.ts';
import type { LocalMessages, SentenceMessages } from './sentence.ts';

type FieldDeclarations = Readonly<Record<string, FieldDeclaration>>;

/** A type of actions as it is declared. Plain data: nothing is checked before the server starts. */
export interface DescriptorDeclaration<
  N extends string = string,
  F extends FieldDeclarations = FieldDeclarations,
> {
  /** The `type` under which actions are stored and filtered, such as `BuildFailed`. */
  readonly type: N;
  /** What happened, in a sentence: shown in the schema. */
  readonly description: string;
  readonly fields: F;
  /** A whole sentence for people, by language, as ICU messages; English is for every language that is left out. */
  readonly summary: SentenceMessages;
  /** The fields that actions have in common which are shown as one, beside their type and day. Default: each alone. */
  readonly group?: readonly string[];
  /** What is said of several actions of a group, in the languages where `summary` does not do. */
  readonly groupSummary?: LocalMessages;
}

type DescriptorOptions<F extends FieldDeclarations> = Omit<
  DescriptorDeclaration<string, F>,
  'type' | 'group'
> & { readonly group?: readonly (keyof F & string)[] };

/**
 * Declares a type of actions. It gives `BuildFailedDescriptor`, `BuildFailedInput` and the property `buildFailed` of
 * `DescriptorInput`; validation, refs, indexes, renames, erasure, groups and import follow from the fields.
 */
export function defineDescriptor<const N extends string, const F extends FieldDeclarations>(
  type: N,
  options: DescriptorOptions<F>,
): DescriptorDeclaration<N, F> {
  return { type, ...options };
}

type ValueOf<D> = D extends { readonly kind: 'int' | 'float' }
  ? number
  : D extends { readonly kind: 'boolean' }
    ? boolean
    : D extends { readonly kind: 'dateTime' }
      ? Date
      : D extends { readonly kind: 'enum'; readonly values: readonly (infer V)[] }
        ? V
        : D extends { readonly kind: 'json' }
          ? unknown
          : string;

type OptionalKeys<F> = {
  readonly [K in keyof F]: F[K] extends
    | { readonly kind: 'json' }
    | { readonly options: { readonly optional: true } }
    ? K
    : never;
}[keyof F];

export type DescriptorValuesOf<F> = {
  readonly [K in Exclude<keyof F, OptionalKeys<F>>]: ValueOf<F[K]>;
} & { readonly [K in OptionalKeys<F>]?: ValueOf<F[K]> | null };

/** What publishing takes for these types: an object with exactly one of their properties. */
export type DescriptorInputOf<D extends DescriptorDeclaration> = D extends DescriptorDeclaration
  ? Readonly<
      Record<
        Uncapitalize<D['type']>,
        DescriptorValuesOf<D['fields']> & { readonly tags?: readonly string[] | null }
      >
    >
  : never;

/** A descriptor of one of these types as it is read, told apart by `type`. */
export type StoredDescriptorOf<D extends DescriptorDeclaration> = D extends DescriptorDeclaration
  ? { readonly type: D['type']; readonly tags: readonly string[] } & DescriptorValuesOf<D['fields']>
  : never;
