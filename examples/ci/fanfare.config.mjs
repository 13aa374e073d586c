import { defineConfig, defineDescriptor, field } from '@fanfare/server';

/** Action types for builds, a domain that the built-in types do not cover. */
export default defineConfig({
  packs: [],
  reactions: ['👍', '🎉', '😕'],
  descriptors: [
    defineDescriptor('BuildFailed', {
      description: 'A build broke.',
      fields: {
        repoId: field.ref('repo', { label: 'repoName', indexed: true }),
        repoName: field.text(),
        authorId: field.person({ name: 'authorName', concerned: true }),
        authorName: field.text(),
        branch: field.text({ max: 200 }),
        minutes: field.int({ min: 0, optional: true }),
      },
      summary: {
        en: '{authorId} broke {branch} of {repoId}',
        de: '{authorId} hat {branch} von {repoId} zerbrochen',
      },
      group: ['repoId', 'branch'],
      groupSummary: {
        de: '{authorId} {subjects, plural, one {hat} other {haben}} {branch} von {repoId} zerbrochen',
      },
    }),
    defineDescriptor('Deployed', {
      description: 'A version went live.',
      fields: {
        repoId: field.ref('repo', { label: 'repoName', indexed: true }),
        repoName: field.text(),
        stage: field.enum(['STAGING', 'PRODUCTION']),
        version: field.text({ min: 1, max: 64 }),
        finishedAt: field.dateTime({ optional: true }),
      },
      summary: {
        en: '{actor} deployed {repoId} {version}',
        de: '{actor} hat {repoId} {version} ausgeliefert',
      },
    }),
    defineDescriptor('ReviewRequested', {
      description: 'Somebody was asked for a review.',
      fields: {
        repoId: field.ref('repo', { label: 'repoName', indexed: true }),
        repoName: field.text(),
        reviewerId: field.person({ name: 'reviewerName', concerned: true }),
        reviewerName: field.text(),
        title: field.text({ max: 200 }),
        isUrgent: field.boolean({ optional: true }),
      },
      summary: {
        en: '{actor} asked {reviewerId} to review {title}',
        de: '{actor} hat {reviewerId} um eine Durchsicht von {title} gebeten',
      },
    }),
  ],
});
