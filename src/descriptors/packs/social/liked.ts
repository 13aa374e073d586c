import { defineDescriptor } from '../../declare.ts';
import { field } from '../../field.ts';

export const liked = defineDescriptor('Liked', {
  description: 'Somebody liked something.',
  fields: {
    objectType: field.text({ description: 'What kind of thing was liked, such as "post".', min: 1, max: 64 }),
    objectId: field.id({ description: 'The thing liked.', label: 'objectName' }),
    objectName: field.text({ description: 'Name of the thing liked.', optional: true }),
  },
  group: ['objectType', 'objectId'],
  summary: {
    en: ['{actor} liked the {objectType} {objectId}', '{actor} liked the {objectType}'],
    // The gender of the thing is not known.
    de: ['{actor} gefällt {objectId} ({objectType})', '{actor} gefällt etwas ({objectType})'],
  },
  activity: 'Like',
});
