/** Hosts that are literals of a forbidden address, in every way of writing one. */
export const literalHosts: readonly string[] = [
  // 127.0.0.1 in all its spellings
  '127.0.0.1', '127.1', '127.0.1', '127.000.000.001', '0x7f.0.0.1', '0x7f.1', '0x7F000001', '2130706433', '017700000001', '0177.0.0.1', '0177.1', '127.0.0.1.', '127.255.255.254', '127.0.0.2',
  '%31%32%37.0.0.1', '①②⑦.⓪.⓪.①', '１２７。０。０。１', '127。0。0。1',
  // this host and its network
  '0.0.0.0', '0', '0x0', '00.0.0.0', '0.1.2.3', '[::]', '[0:0:0:0:0:0:0:0]',
  // loopback in IPv6, and IPv4 carried in IPv6
  '[::1]', '[0:0:0:0:0:0:0:1]', '[0000::0001]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::FFFF:127.0.0.1]', '[0:0:0:0:0:ffff:7f00:1]', '[::127.0.0.1]', '[::7f00:1]', '[64:ff9b::127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[2002:7f00:0001::1]', '[::ffff:0:127.0.0.1]',
  // private networks
  '10.0.0.1', '10.255.255.255', '10.1', '0xa.0.0.1', '012.0.0.1', '167772161', '172.16.0.1', '172.31.255.254', '172.20.1', '192.168.0.1', '192.168.1.1', '192.168.257', '0xc0.0xa8.0.1', '3232235777', '[::ffff:10.0.0.1]', '[::ffff:192.168.1.1]', '[::ffff:c0a8:101]', '[64:ff9b::10.0.0.1]', '[2002:a00:1::]', '[2002:c0a8:101::]',
  '[fc00::1]', '[fd00::1]', '[fd12:3456:789a::1]', '[fec0::1]',
  // carrier-grade NAT, link-local, metadata of clouds
  '100.64.0.1', '100.127.255.254', '100.100.100.200', '169.254.0.1', '169.254.169.254', '169.254.170.2', '2852039166', '0xa9fea9fe', '0xa9.0xfe.0xa9.0xfe', '0251.0376.0251.0376', '169.254.43518', '169.16689662', '[::ffff:169.254.169.254]', '[::ffff:a9fe:a9fe]', '[64:ff9b::a9fe:a9fe]', '[fd00:ec2::254]', '[fe80::1]', '[fe80::a9fe:a9fe]', '[febf::1]', '192.0.0.192',
  // reserved, documentation, benchmarking, multicast, broadcast
  '192.0.0.1', '192.0.2.1', '198.51.100.1', '203.0.113.1', '198.18.0.1', '198.19.255.254', '240.0.0.1', '255.255.255.255', '4294967295', '224.0.0.1', '239.255.255.250', '[ff02::1]', '[ff05::1:3]', '[2001:db8::1]', '[100::1]', '[2001::1]', '[2001:2::1]',
];

/** Names and the addresses a resolver gives for them; each must be refused, also where a good address stands first. */
export const names: Readonly<Record<string, readonly string[]>> = {
  'loopback.example': ['127.0.0.1'],
  'loopback6.example': ['::1'],
  'mapped.example': ['::ffff:127.0.0.1'],
  'mapped-hex.example': ['::ffff:7f00:1'],
  'nat64.example': ['64:ff9b::7f00:1'],
  'sixtofour.example': ['2002:7f00:1::'],
  'any.example': ['0.0.0.0'],
  'any6.example': ['::'],
  'ten.example': ['10.0.0.1'],
  'one-seven-two.example': ['172.16.5.5'],
  'one-nine-two.example': ['192.168.1.1'],
  'carrier.example': ['100.64.0.1'],
  'link-local.example': ['169.254.1.1'],
  'metadata.example': ['169.254.169.254'],
  'metadata6.example': ['fd00:ec2::254'],
  'alibaba.example': ['100.100.100.200'],
  'unique-local.example': ['fd00::1'],
  'link-local6.example': ['fe80::1'],
  'multicast.example': ['224.0.0.1'],
  'broadcast.example': ['255.255.255.255'],
  'benchmark.example': ['198.18.0.1'],
  'mixed-last.example': ['93.184.215.14', '127.0.0.1'],
  'mixed-first.example': ['127.0.0.1', '93.184.215.14'],
  'mixed-families.example': ['2606:2800:21f:cb07:6820:80da:af6b:8b2c', '::1'],
  'mixed-many.example': ['93.184.215.14', '93.184.215.15', '10.0.0.9'],
  'garbage.example': ['not an address'],
  'blank.example': [''],
  'zone.example': ['fe80::1%lo'],
};

/** Addresses that are no address of the web, or smuggle something. `{port}` is the trap's. */
export const oddAddresses: readonly string[] = [
  'file:///etc/passwd', 'ftp://127.0.0.1:{port}/', 'gopher://127.0.0.1:{port}/_GET', 'data:text/plain,hello', 'javascript:alert(1)', 'ws://127.0.0.1:{port}/', 'unix:/var/run/docker.sock',
  'http://user:password@127.0.0.1:{port}/', 'http://93.184.215.14@127.0.0.1:{port}/', 'http://127.0.0.1:{port}@93.184.215.14/', 'http://', 'http:///', '//127.0.0.1:{port}/', '127.0.0.1:{port}', '', ' ', 'http://[::1/', 'http://[fe80::1%25lo]:{port}/',
  'http://127.0.0.1:99999/', 'http://a b/',
];
