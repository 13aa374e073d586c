import { defineDescriptor } from '../../declare.ts';
import { field } from '../../field.ts';

export const applicantRatingRequested = defineDescriptor('ApplicantRatingRequested', {
  description: 'Somebody was asked to rate an applicant.',
  fields: {
    applicantId: field.person({ description: 'The applicant to rate.', name: 'applicantName', asRef: false }),
    applicantName: field.text({ description: 'Name of the applicant.' }),
    requestedFromId: field.person({
      description: 'The person who was asked.',
      name: 'requestedFromName',
      asRef: false,
      notifies: true,
    }),
    requestedFromName: field.text({ description: 'Name of the person who was asked.' }),
  },
  group: ['applicantId'],
  summary: {
    en: '{actor} asked {requestedFromId} to rate {applicantId}',
    de: '{actor} hat {requestedFromId} gebeten, {applicantId} zu bewerten',
  },
  groupSummary: {
    de: '{actor} {subjects, plural, one {hat} other {haben}} {requestedFromId} gebeten, {applicantId} zu bewerten',
  },
});
