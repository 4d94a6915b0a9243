import { expect } from 'chai';
import { focusTables } from '../../host/content/site/post-view.ts';

describe('tables of a post', () => {
  it('are reached by keyboard', async () => {
    expect(await focusTables('<table><tr><td>1</td></tr></table><TABLE class="a">')).to.equal(
      '<table tabindex="0"><tr><td>1</td></tr></table><table tabindex="0" class="a">',
    );
  });

  it('are not what looks like one in an attribute, a comment or a script', async () => {
    for (const html of [
      '<a title="<table onclick=alert(1)>" href="/">a</a>',
      "<a data-a='\"<table >'>a</a>",
      '<!-- <table> --><tables><tablet>',
      '<script>a("<table class=b>")</script>',
      '1 &lt;table> 2 < table',
      '<table "',
    ])
      expect(await focusTables(html)).to.equal(html);
    expect(await focusTables('<table title="<table >">')).to.equal('<table tabindex="0" title="<table >">');
  });
});
