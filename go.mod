module github.com/gardefou/gardefou

go 1.26.5

require (
	github.com/dlclark/regexp2/v2 v2.13.0
	github.com/stretchr/testify v1.12.1
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
