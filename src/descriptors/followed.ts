import { defineDescriptor, nameField, refIdField } from './define.ts';

export const followed = defineDescriptor({
  type: 'Followed',
  inputName: 'followed',
  description: 'Somebody began to follow a person or a thing.',
  fields: {
    followedId: refIdField('Who or what is followed.'),
    followedName: nameField('followedId', 'Name of who or what is followed.'),
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
