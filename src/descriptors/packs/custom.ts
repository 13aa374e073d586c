import { defineDescriptor } from '../declare.ts';
import { field } from '../field.ts';

const MAX_DATA_BYTES = 16 * 1024;

export const custom = defineDescriptor('Custom', {
  description: 'Anything else: a verb with an object, an optional target and free data (at most 16 KiB).',
  fields: {
    verb: field.text({ description: 'What was done, such as "posted".', min: 1, max: 64 }),
    objectType: field.text({
      description: 'What kind of thing it was done to, such as "post".',
      min: 1,
      max: 64,
    }),
    objectId: field.id({ description: 'Id of the thing it was done to.' }),
    targetId: field.id({
      description: 'The thing that the object belongs to, or for which it was done.',
      optional: true,
    }),
    data: field.json({ description: 'Free data of the application.', maxBytes: MAX_DATA_BYTES }),
  },
  group: ['verb', 'objectType', 'objectId', 'targetId'],
  summary: {
    en: '{actor} {verb} {objectType} {objectId}',
    de: '{actor} {verb} {objectType} {objectId}',
  },
  activity: '{verb}',
});
