import { builder } from '../builder.ts';

const DescriptorFieldFilter = builder.inputType('DescriptorFieldFilter', {
  description: 'A field that its type declares as indexed, such as `{field: "raterId", value: "john"}`.',
  fields: (t) => ({
    field: t.string({
      required: true,
      description: 'Name of the field. BAD_USER_INPUT if no type declares it as indexed.',
    }),
    value: t.string({ required: true, description: 'Exact value of the field.' }),
  }),
});

export const ActionFilter = builder.inputType('ActionFilter', {
  description: 'Selects actions that meet all given conditions.',
  fields: (t) => ({
    types: t.stringList({
      description: 'Of one of these types, such as ApplicationRating. An unknown one is BAD_USER_INPUT.',
    }),
    actorIds: t.stringList({ description: 'By one of these actors.' }),
    tags: t.stringList({ description: 'With any of these tags.' }),
    descriptor: t.field({
      type: DescriptorFieldFilter,
      description: 'With this value in a field of the descriptor.',
    }),
    since: t.field({ type: 'DateTime', description: 'Conducted at this time or later.' }),
    until: t.field({ type: 'DateTime', description: 'Conducted before this time.' }),
  }),
});
