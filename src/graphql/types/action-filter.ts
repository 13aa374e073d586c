import { builder } from '../builder.ts';

export const ActionFilter = builder.inputType('ActionFilter', {
  description: 'Which actions; conditions that are given must all hold.',
  fields: (t) => ({
    types: t.stringList({
      description: 'Of one of these types, such as ApplicationRating. An unknown one is BAD_USER_INPUT.',
    }),
    actorIds: t.stringList({ description: 'By one of these actors.' }),
    tag: t.string({ description: 'With this tag.', deprecationReason: 'Use tags.' }),
    tags: t.stringList({ description: 'With any of these tags.' }),
    since: t.field({ type: 'DateTime', description: 'Conducted then or later.' }),
    until: t.field({ type: 'DateTime', description: 'Conducted before.' }),
  }),
});
