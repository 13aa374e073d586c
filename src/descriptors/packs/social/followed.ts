import { defineDescriptor } from '../../declare.ts';
import { field } from '../../field.ts';

export const followed = defineDescriptor('Followed', {
  description: 'Somebody started to follow a person or a thing.',
  fields: {
    followedId: field.id({ description: 'The person or thing followed.', label: 'followedName' }),
    followedName: field.text({ description: 'Name of the person or thing followed.' }),
  },
  group: ['followedId'],
  summary: {
    en: '{actor} followed {followedId}',
    de: '{actor} folgt {followedId}',
  },
  groupSummary: {
    de: '{actor} {subjects, plural, one {folgt} other {folgen}} {followedId}',
  },
  activity: 'Follow',
});
