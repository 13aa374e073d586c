import { builder } from '../builder.ts';

const DescriptorFieldFilter = builder.inputType('DescriptorFieldFilter', {
  description: 'A field that its type declares as indexed, such as `{field: "raterId", value: "john"}`.',
  fields: (t) => ({
    field: t.string({
      required: true,
      description: 'Its name. One that no type declares as indexed is BAD_USER_INPUT.',
    }),
    value: t.string({ required: true, description: 'Its value, exactly.' }),
  }),
});

export const ActionFilter = builder.inputType('ActionFilter', {
  description: 'Which actions; conditions that are given must all hold.',
  fields: (t) => ({
    types: t.stringList({
      description: 'Of one of these types, such as ApplicationRating. An unknown one is BAD_USER_INPUT.',
    }),
    actorIds: t.stringList({ description: 'By one of these actors.' }),
    tag: t.string({ description: 'With this tag.', deprecationReason: 'Use tags.' }),
    tags: t.stringList({ description: 'With any of these tags.' }),
    descriptor: t.field({
      type: DescriptorFieldFilter,
      description: 'With this value in a field of the descriptor.',
    }),
    since: t.field({ type: 'DateTime', description: 'Conducted then or later.' }),
    until: t.field({ type: 'DateTime', description: 'Conducted before.' }),
  }),
});
