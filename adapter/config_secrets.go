package adapter

import (
	"go.yaml.in/yaml/v3"
)

// secretsIn returns what in a config.yaml looks like a secret: none belongs there, and
// people put them there all the same. It goes by the names of keys, by passwords in URLs,
// and by what stands where the name of a variable should.
func secretsIn(n *yaml.Node) []string {
	var found []string
	switch n.Kind {
	case yaml.ScalarNode:
		return passwordOf(n.Value)
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i].Value, n.Content[i+1]
			found = append(found, secretsIn(value)...)
			switch {
			case key == "auth_env":
				found = append(found, misplaced(value)...)
			case value.Kind == yaml.ScalarNode && secretName.MatchString(key) && len(value.Value) >= leastGuessed:
				found = append(found, value.Value)
			}
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			found = append(found, secretsIn(item)...)
		}
	case yaml.DocumentNode, yaml.AliasNode: // what an alias stands for is looked at where it stands
	}
	return found
}

// misplaced returns what cannot be the name of a variable.
func misplaced(names *yaml.Node) []string {
	var found []string
	for _, n := range append([]*yaml.Node{names}, names.Content...) {
		if n.Kind == yaml.ScalarNode && len(n.Value) >= leastGuessed && !variableName.MatchString(n.Value) {
			found = append(found, n.Value)
		}
	}
	return found
}
