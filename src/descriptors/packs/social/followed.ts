import { defineDescriptor } from '../../declare.ts';
import { field } from '../../field.ts';

export const followed = defineDescriptor('Followed', {
  description: 'Somebody began to follow a person or a thing.',
  fields: {
    followedId: field.id({ description: 'Who or what is followed.', label: 'followedName' }),
    followedName: field.text({ description: 'Name of who or what is followed.' }),
  },
  group: ['followedId'],
  summary: {
    en: '{actor} followed {followedId}',
    de: '{actor} folgt {followedId}',
  },
  groupSummary: {
    de: '{actor} {subjects, plural, one {folgt} other {folgen}} {followedId}',
  },
});
