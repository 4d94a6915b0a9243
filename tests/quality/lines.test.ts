import { expect } from 'chai';
import { findLongLines, longLinesIn } from './lines.ts';
import { sizeOf } from './size.ts';

describe('the lines and files of the project', () => {
  it('has no source line over 140 columns, SQL excepted', () => {
    expect(findLongLines()).to.deep.equal([]);
  });

  it('finds a long line of code and lets one of SQL pass', () => {
    const long = 'x'.repeat(150);
    expect(longLinesIn('a.ts', `const text = '${long}';\n`)).to.deep.equal(['a.ts:1 (166)']);
    expect(longLinesIn('a.ts', `const sql = \`SELECT ${long}\`;\n`)).to.deep.equal([]);
    expect(longLinesIn('a.hbs', `<p>${long}</p>\n`)).to.deep.equal(['a.hbs:1 (157)']);
  });

  /**
   * 1,140 before document workers, mail, two-step sign-in, account pages and the security log, which brought 60. Jobs,
   * the compiler, private media, post passwords, comments, videos and key rotation brought 90. The commands and the handbook
   * for authors of plugins brought 20; taxonomies, search, REST fields, the routes of plugins and Site Health 15, the home page, the search and the menu of the admin 10,
   * comments over REST, services between plugins, the conformance kit and the example `orders` 35, named keys, abilities and the OpenAI-compatible routes 40,
   * the example `orders` with its translations, and traces of requests 35. Providers that plugins describe, leases of running plugins,
   * autosaves and revisions side by side, budgets of roles and plugins 15,
   * data by JSON Schema, the task that extracts it and further abilities 12, languages 7, sign-in for the tests of plugins 1, resources of knowledge 1,
   * saved views 1, a conversation beside its list 2, errors of starts 1, the list of tasks and forms 1,
   * a drop zone and schedules in words 2, the disclosure of generated images 1, reads of tables 1,
   * requests from the REST reference 1, bounds of work, rejections by vendors, outages of providers and databases,
   * the rest of what strangers found 75, units, manifests and proxies of deployment 15, the Responses API, its route and Anthropic's 35,
   * formats of files and articles of pages 27, the character codes of fonts 67, the vector store of the site 13.
   */
  it('keeps host and plugins at 1,765 files or fewer', () => {
    expect(sizeOf(['host', 'plugins']).files).to.be.at.most(1_765);
  });
});
