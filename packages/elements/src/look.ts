import feed from '@fanfare/react/feed.css';
import more from '@fanfare/react/more.css';
import tokens from '@fanfare/react/tokens.css';

/** Of what is around the parts. A theme of its own needs a background of its own. */
const HOST = `
:host { display: block; }
:host(fanfare-bell) { display: inline-block; }
:host([hidden]) { display: none; }
:host([theme='light']) { color-scheme: light; }
:host([theme='dark']) { color-scheme: dark; }
:host([theme='auto']) { color-scheme: light dark; }
:host(:is([theme='light'], [theme='dark'], [theme='auto'])) {
  color: var(--fanfare-text);
  background: var(--fanfare-card);
}
[part='body'] { display: contents; }
`;

/** Not made before there is a page. */
let sheets: readonly CSSStyleSheet[] | undefined;

/**
 * Puts the look on a shadow root, without what a policy for inline styles could forbid. The tokens are the page's: a page that sets
 * one of them anywhere above an element changes it there.
 */
export function wear(root: ShadowRoot): void {
  if (!('adoptedStyleSheets' in Document.prototype)) {
    // Safari before 16.4, which needs a policy that allows it.
    const own = Object.assign(document.createElement('style'), {
      textContent: `${tokensFor(':host')}${feed}${more}${HOST}`,
    });
    root.append(own);
    return;
  }
  if (sheets === undefined) {
    // Less than anything that the page itself says.
    document.adoptedStyleSheets = [sheetOf(tokensFor(':where(:root)')), ...document.adoptedStyleSheets];
    sheets = [feed, more, HOST].map(sheetOf);
  }
  root.adoptedStyleSheets = [...sheets];
}

function tokensFor(selector: string): string {
  return tokens.replaceAll(':root', selector);
}

function sheetOf(text: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return sheet;
}
