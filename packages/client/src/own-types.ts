/**
 * The types of actions of an installation, by name. `fanfare schema --types` writes a file that adds them; without it a
 * descriptor has what all types have, and a publication takes anything.
 */
// oxlint-disable-next-line typescript/no-empty-object-type -- it is there to be added to
export interface FanfareTypes {}

/** What your `fields` select beyond the types of actions: `action`, `item`, `comment`, `notification`. To be added to by hand. */
// oxlint-disable-next-line typescript/no-empty-object-type -- it is there to be added to
export interface FanfareFields {}

/** What was added for one of them. */
export type Added<Name extends 'action' | 'item' | 'comment' | 'notification'> =
  FanfareFields extends Readonly<Record<Name, infer Given>> ? Given : object;

type FieldsOf<Type> = Type extends { readonly fields: infer Given } ? Given : unknown;
type InputOf<Type> = Type extends { readonly input: infer Given } ? Given : never;

/** What all types have, and of each declared type its own fields: `type` tells which. */
export type DescriptorWith<Common extends { readonly type: string }> = [keyof FanfareTypes] extends [never]
  ? Common
  : {
      readonly [Type in keyof FanfareTypes]: Omit<Common, 'type'> & {
        readonly type: Type;
      } & FieldsOf<FanfareTypes[Type]>;
    }[keyof FanfareTypes];

/** What happened: exactly one of the declared types, such as `{ posted: { … } }`. */
export type DescriptorInput = [keyof FanfareTypes] extends [never]
  ? Readonly<Record<string, unknown>>
  : { readonly [Type in keyof FanfareTypes]: InputOf<FanfareTypes[Type]> }[keyof FanfareTypes];
