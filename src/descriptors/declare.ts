import type { ActivityDeclaration } from './activity.ts';
import type { FieldDeclaration } from './field.ts';
import type { MediaGiven } from './media.ts';
import type { LocalMessages, SentenceMessages } from './sentence.ts';

type FieldDeclarations = Readonly<Record<string, FieldDeclaration>>;

/** Declaration of an action type. Plain data; the server checks it at start. */
export interface DescriptorDeclaration<
  N extends string = string,
  F extends FieldDeclarations = FieldDeclarations,
> {
  /** Name of the type in storage and filters, such as `BuildFailed`. */
  readonly type: N;
  /** One sentence that describes the event; becomes the description in the schema. */
  readonly description: string;
  readonly fields: F;
  /** A complete sentence for readers in each language, as ICU messages. Languages left out fall back to English. */
  readonly summary: SentenceMessages;
  /** Fields that must be equal, beside type and day, for actions to be shown as one group. Default: never grouped. */
  readonly group?: readonly string[];
  /** Sentence about a group of actions, for languages in which `summary` does not fit. */
  readonly groupSummary?: LocalMessages;
  /** The activity of ActivityStreams as which others are shown it, or a text field that names one. Default: Activity. */
  readonly activity?: ActivityDeclaration;
}

type DescriptorOptions<F extends FieldDeclarations> = Omit<
  DescriptorDeclaration<string, F>,
  'type' | 'group'
> & { readonly group?: readonly (keyof F & string)[] };

/**
 * Declares an action type. `defineDescriptor({type: 'BuildFailed', ...})` adds `BuildFailedDescriptor`, `BuildFailedInput`
 * and the property `buildFailed` of `DescriptorInput` to the schema. Validation, refs, indexes, renames, erasure, groups and
 * import are derived from the fields.
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
          : D extends { readonly kind: 'media' }
            ? readonly MediaGiven[]
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

/** Input of a publication: an object with exactly one of the types' properties. */
export type DescriptorInputOf<D extends DescriptorDeclaration> = D extends DescriptorDeclaration
  ? Readonly<
      Record<
        Uncapitalize<D['type']>,
        DescriptorValuesOf<D['fields']> & { readonly tags?: readonly string[] | null }
      >
    >
  : never;

/** A stored descriptor of one of these types, discriminated by `type`. */
export type StoredDescriptorOf<D extends DescriptorDeclaration> = D extends DescriptorDeclaration
  ? { readonly type: D['type']; readonly tags: readonly string[] } & DescriptorValuesOf<D['fields']>
  : never;
